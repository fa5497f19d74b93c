/**
 * Frames between a server process and its evaluation children, over pipes. A frame consists of the
 * lengths of its head and its body (32 bits each), the head in JSON, and the body in bytes. The
 * payload is in the body, because quoting 25 MiB as JSON would block the server's event loop.
 */
const lengthBytes = 8;

export interface Frame {
  readonly head: Buffer;
  readonly body: Buffer;
}

export function encodeFrame(head: unknown, body: string = ""): Buffer {
  const json = JSON.stringify(head);
  const headBytes = Buffer.byteLength(json);
  const bodyBytes = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(lengthBytes + headBytes + bodyBytes);
  frame.writeUInt32BE(headBytes, 0);
  frame.writeUInt32BE(bodyBytes, 4);
  frame.write(json, lengthBytes);
  frame.write(body, lengthBytes + headBytes);
  return frame;
}

/** Collects chunks of a stream, and returns its frames. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  readonly #maxBytes: number;

  /** @param maxBytes maximum size of one frame with its lengths. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /**
   * Returns the next complete frame; undefined if it has not arrived.
   * @throws RangeError if the frame is larger than the limit
   */
  next(): Frame | undefined {
    if (this.#size < lengthBytes) return undefined;
    const lengths = this.#peek(lengthBytes);
    const headBytes = lengths.readUInt32BE(0);
    const bytes = lengthBytes + headBytes + lengths.readUInt32BE(4);
    if (bytes > this.#maxBytes) throw new RangeError(`A frame has ${bytes} bytes.`);
    if (this.#size < bytes) return undefined;
    const frame = this.#peek(bytes);
    const rest = frame.subarray(bytes);
    const head = frame.subarray(lengthBytes, lengthBytes + headBytes);
    const body = frame.subarray(lengthBytes + headBytes, bytes);
    this.#chunks[0] = rest;
    if (rest.length === 0) this.#chunks.shift();
    this.#size -= bytes;
    return { head, body };
  }

  /** Returns the first chunk. If it has fewer than `bytes` bytes, joins all chunks first. */
  #peek(bytes: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= bytes) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
