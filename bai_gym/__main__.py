"""``python -m bai_gym``: the command line, where its script is not on the path."""

from bai_gym.cli import main

if __name__ == "__main__":
    main()
