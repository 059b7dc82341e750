// The page of `--engine browser`: takes part from the moment it is opened.

import { Guest, newIdentity } from "./guest.js";
import { socketAddress } from "./link.js";
import { View } from "./view.js";

// It lasts over reloads; a browser that is driven by a program has it in the address.
const identity = location.hash.slice(1) || (sessionStorage.id ??= newIdentity());

const view = new View((name) => document.getElementById(name));
new Guest({ address: socketAddress("socket"), identity, view }).start();
