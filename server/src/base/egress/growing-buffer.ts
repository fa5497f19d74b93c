const nothing: Buffer = Buffer.alloc(0);

/**
 * Joins chunks as they arrive. The first chunk is kept without a copy; more chunks are copied into a
 * buffer that doubles: keeping an object per chunk would take a hundred times the size of a body
 * that arrives byte by byte.
 */
export class GrowingBuffer {
  #bytes = nothing;
  #length = 0;

  /** Number of bytes that were added since the last `take`. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    } else {
      if (length > this.#bytes.length) {
        const larger = Buffer.allocUnsafe(2 * length);
        this.#bytes.copy(larger, 0, 0, this.#length);
        this.#bytes = larger;
      }
      this.#bytes.set(chunk, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes, and is empty afterwards. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = nothing;
    this.#length = 0;
    return bytes;
  }
}
