"""Audits of stopping rules: a search for instances on which they err more often than they promise."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.auditing.auditor import audit, repeat
    from bai_gym.auditing.gallery import GALLERY, GalleryRule
    from bai_gym.auditing.instances import Instance
    from bai_gym.auditing.result import Audit
    from bai_gym.auditing.search import Plan
    from bai_gym.auditing.streams import Looks

__all__ = ["GALLERY", "Audit", "GalleryRule", "Instance", "Looks", "Plan", "audit", "repeat"]

__getattr__, __dir__ = lazily(__name__)
