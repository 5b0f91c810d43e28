"""An episode in a window: the render mode ``human``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bai_gym.envs.rendering.picture import import_pygame, to_rgb
from bai_gym.envs.rendering.snapshot import Snapshot
from bai_gym.errors import ParameterError

__all__ = ["Window"]


class Window:
    """A window that shows one image after another, at a steady pace.

    It opens at the first image. Closing it by hand is final: later images are then ignored, so that a training loop
    goes on undisturbed. Works without a display under ``SDL_VIDEODRIVER=dummy``.

    Args:
        fps: Images per second at most; :meth:`show` waits where it is called faster. At least 1.

    Raises:
        ParameterError: If `fps` is below 1.
    """

    def __init__(self, fps: int = 30) -> None:
        if fps < 1:
            raise ParameterError(f"fps is {fps}; a window shows at least 1 image per second")
        self.fps = fps
        self.closed = False
        self._screen: Any = None
        self._clock: Any = None

    def show(self, image: Snapshot | NDArray[np.uint8]) -> None:
        """Show an image, at the pace of ``fps``.

        Args:
            image: An episode, or an image of shape (height, width, 3), uint8.

        Raises:
            MissingPackageError: If pygame is not installed.
        """
        if self.closed:
            return
        pygame = import_pygame()
        frame = to_rgb(image) if isinstance(image, Snapshot) else np.asarray(image)
        size = (frame.shape[1], frame.shape[0])
        if self._screen is None or self._screen.get_size() != size:
            pygame.display.init()
            pygame.display.set_caption("best-arm identification")
            self._screen = pygame.display.set_mode(size)
            self._clock = self._clock or pygame.time.Clock()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return
        pygame.surfarray.blit_array(self._screen, frame.transpose(1, 0, 2))
        pygame.display.flip()
        self._clock.tick(self.fps)

    def close(self) -> None:
        """Close the window for good; a second call does nothing."""
        if self._screen is not None:
            import_pygame().display.quit()
            self._screen = None
        self.closed = True
