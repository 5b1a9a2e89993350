from tests.axe import problems, problems_in_both

__all__ = ["problems", "problems_in_both"]
