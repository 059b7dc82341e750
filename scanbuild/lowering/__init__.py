"""From an ONNX ``Scan`` node to a source package.

A model is read (``model``), its node and body are brought into one normal form, a graph of few operations on tensors of
known rank (``graph``), the graph is analysed (``analysis``), and each strategy that applies makes a variant of it.
Everything between the stages is plain data; nothing here plans or runs a package.
"""
