"""Checking a package: every mistake the loader would refuse, now or at some call, and what works only by luck.

:func:`~scanbuild.checking.check.check_path` reads a package once into a
:class:`~scanbuild.checking.subject.Subject`; a rule is a function from that to problems, in a list that
:mod:`~scanbuild.checking.check` shows whole. ``docs/checks.md`` explains every rule.
"""
