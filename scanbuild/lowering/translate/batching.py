"""A batch axis in front of every value that depends on the inputs, for ``Scan`` of version 8, whose body sees none.

It is put into the operations of the normal form, which are few.
"""
