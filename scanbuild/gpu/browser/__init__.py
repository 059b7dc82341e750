"""A browser as an engine: any device that can open a page can run plans.

::

    with Server(ServerSettings()) as server:            # a page at server.url, for whoever knows that address
        visitor = server.next_visitor(limit_s=60.0)     # a browser that opened it, or None
        engine = BrowserEngine(visitor)                 # an Executor: engine.record, engine.run(job), ...
        engine.show("begin", {"title": "a package", "total": 3})

With ``Browser("chromium", server.url)`` the browser is a headless one of this machine. :mod:`messages` says what goes
over the wire, :mod:`jobjson` how a job looks there, :mod:`site` who is answered. ``page/`` is what the browser loads:
plain files without a build step. Importing this package imports none of what it needs (the extra ``browser``).
"""
