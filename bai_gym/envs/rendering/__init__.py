"""Pictures of one episode: as text, as an RGB array, and in a window.

Each is a function of a :class:`Snapshot`, what the learner may see of an episode plus its outcome, so rendering can
never disturb an environment. :func:`to_text` serves the render mode ``ansi``, :func:`to_rgb` serves ``rgb_array``
(and video recording), :class:`Window` serves ``human``.
"""

from bai_gym.envs.rendering.picture import to_rgb
from bai_gym.envs.rendering.snapshot import Snapshot, reaches
from bai_gym.envs.rendering.text import to_text
from bai_gym.envs.rendering.window import Window

__all__ = ["Snapshot", "Window", "reaches", "to_rgb", "to_text"]
