"""The lesson: steps that ask before they show. Each answer comes from a run."""

from spear_core.lesson.steps import STEPS, Task

__all__ = ["STEPS", "Task"]
