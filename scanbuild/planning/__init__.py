"""From a package, a request and a device record to the :class:`~scanbuild.planning.plan.Plan` of one call.

The room is pure: it knows nothing of a GPU, and the same three give the same plan on every machine::

    from scanbuild.planning.planner import Planner
    from scanbuild.planning.profiles import profile
    from scanbuild.planning.request import HostTensor, Request

    planner = Planner(package)                          # keeps what it rendered for further requests
    request = Request(inputs={"x": HostTensor.of(array)}, attrs={"axis": 1})
    call = planner.prepare(request, profile("chrome-nvidia"))
    call.plan                                           # what an engine runs
    call.uploads, call.resident                         # arrays in storage form; tensors that are on the GPU already
    planner.plan(planner.read(request), device)         # the same in two steps: the first needs no device
    planner.explain(request, device)                    # why each variant was taken or not
    planner.programs(request, device, "variant")        # the shaders of a variant, whatever selection says

A tensor without data (``HostTensor(shape=..., dtype=...)``) is planned like any other and uploads nothing. Whatever
the loader refuses at a call is a :class:`~scanbuild.errors.CallError`, raised before any GPU is touched, that says
where in the manifest or template the fault is. ``results.to_array`` reads an output buffer back.

Modules, in the order in which a call goes through them:

* ``request`` what a caller passes; ``device`` and ``profiles`` what it is planned for; ``dtypes`` how data are stored
* ``intake`` and ``host`` read the request and convert host data; ``attributes`` settles attributes and arguments
* ``types`` solves type variables; ``inference`` finds the outputs; ``scope`` is what expressions see at each stage
* ``selection`` chooses the variant; ``expansion`` unrolls repeat groups
* ``program`` renders; ``wgsl``, ``int64`` and ``module`` declare, inject and check shader text
* ``dispatch``, ``uniforms`` and ``bindings`` make the grid and the bind group; ``passes`` puts them together
* ``rounds`` keeps, in a repeat group, what does not differ from one round to the next

One rule is applied more strictly than by the loader: a variant that uses what the device is known not to compile
(9.2, step 5) is passed over at every request. The loader cannot do so before it has fetched the variant's templates,
so that its answer depends on earlier calls.
"""
