// The connection to scanbuild: messages in and out of a WebSocket. A message is a JSON text with the sizes of the byte
// strings that follow it in binary frames, cut anywhere.

const LARGEST_FRAME = 1 << 20;
const FULL = 8 * LARGEST_FRAME;

export class Link {
  #socket;
  #message = null;
  #parts = [];
  #missing = 0;

  /** Opens a connection. `onMessage(kind, body, contents)` gets whole messages, `onEnd(code, reason)` the end. */
  constructor(address, { onOpen, onMessage, onEnd }) {
    this.onMessage = onMessage;
    this.#socket = new WebSocket(address);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("open", onOpen);
    this.#socket.addEventListener("message", (event) => this.#take(event.data));
    this.#socket.addEventListener("close", (event) => onEnd(event.code, event.reason));
  }

  close() {
    this.#socket.close();
  }

  /** Sends a message; resolves when most of it has left. A closed connection swallows it. */
  async send(kind, body = {}, contents = []) {
    this.#socket.send(JSON.stringify({ ...body, kind, bytes: contents.map((part) => part.byteLength) }));
    for (const part of contents) {
      for (let start = 0; start < part.byteLength; start += LARGEST_FRAME) {
        while (this.#socket.bufferedAmount > FULL && this.#socket.readyState === WebSocket.OPEN) await pause(5);
        this.#socket.send(part.subarray(start, start + LARGEST_FRAME));
      }
    }
  }

  #take(data) {
    if (typeof data === "string") {
      this.#message = JSON.parse(data);
      this.#parts = this.#message.bytes.map((size) => new Uint8Array(size));
      this.#missing = this.#message.bytes.reduce((sum, size) => sum + size, 0);
      this.filled = { part: 0, offset: 0 };
    } else {
      this.#fill(new Uint8Array(data));
    }
    if (this.#message && this.#missing === 0) {
      const { kind, bytes, ...body } = this.#message;
      const contents = this.#parts;
      this.#message = null;
      this.#parts = [];
      this.onMessage(kind, body, contents);
    }
  }

  #fill(piece) {
    let start = 0;
    while (start < piece.length) {
      const part = this.#parts[this.filled.part];
      const size = Math.min(part.length - this.filled.offset, piece.length - start);
      part.set(piece.subarray(start, start + size), this.filled.offset);
      start += size;
      this.filled.offset += size;
      if (this.filled.offset === part.length) this.filled = { part: this.filled.part + 1, offset: 0 };
    }
    this.#missing -= piece.length;
  }
}

/** The address of a WebSocket on this page's server, from one that is relative to the page. */
export function socketAddress(path) {
  const address = new URL(path, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.hash = address.search = "";
  return address;
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
