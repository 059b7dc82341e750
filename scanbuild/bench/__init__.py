"""How fast packages are: what is measured, how often, beside what, and what follows from it.

The figures of a case come from rounds. In each round everything that is compared, and the two rooflines (a copy of as
many bytes, and a dispatch that does nothing), is run once in one submission, so that a device whose clock or whose
neighbours change during a measurement changes all of them alike. Ratios are taken within rounds.

Importing this package imports no engine. It says nothing itself: ``scanbuild.commands.bench`` does.
"""
