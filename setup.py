"""What pyproject.toml cannot say: in the wheel the app is one package, `spear_app`.

`app.py` and `pages/` stay at the top of the project. Inside `spear_app` they lie as they do here,
so the app finds its pages, its lesson plan and its notebooks by the same paths.
"""

from setuptools import find_namespace_packages, find_packages, setup

pages = [f"spear_app.{name}" for name in find_namespace_packages(include=["pages*"])]
setup(
    packages=[*find_packages(include=["spear_core*"]), "spear_app", *pages],
    package_dir={"spear_app": "."},
    script_name="setup.py",  # else it would count as a module of the app
)
