import type { ByteBudget, ByteHold } from "../../base/byte-budget.ts";
import { heldPerByte, tooLargeForMemory } from "./body-limits.ts";

/**
 * Counts the body of a received request against two budgets. `exchanges` limits the memory of all
 * large request bodies and responses, and grows with the server's memory. `bodies` limits the bytes
 * of the received bodies, plus the bytes that decoding adds, to the same size on every server. With
 * `exchanges` alone, a server with much memory would hold many bodies of up to 25 MiB at once.
 */
export class ReceivedBodyHold {
  readonly #memory: ByteHold;
  readonly #bytes: ByteHold;

  /** @param workspaceId the workspace that the bytes are counted for */
  constructor(
    { exchanges, bodies }: { readonly exchanges: ByteBudget; readonly bodies: ByteBudget },
    workspaceId: string,
  ) {
    this.#memory = exchanges.hold(workspaceId);
    this.#bytes = bodies.hold(workspaceId);
  }

  /** Maximum memory of all bodies of this workspace together. */
  get maxBytes(): number {
    return Math.min(this.#memory.maxBytes, heldPerByte * this.#bytes.maxBytes);
  }

  /**
   * Counts the memory for a part of a body that is being received.
   * @param heldBytes `heldPerByte` bytes for each byte of the part
   * @returns false, and changes nothing, if one of the budgets has not enough left
   */
  grow(heldBytes: number): boolean {
    if (!this.#memory.grow(heldBytes)) return false;
    if (this.#bytes.grow(heldBytes / heldPerByte)) return true;
    this.#memory.shrink(heldBytes);
    return false;
  }

  /**
   * Like `grow`, but takes the number of bytes of the body, not of the memory for them. It is for a
   * body that is read from the database, and for the bytes that `decodeBody` adds to a body.
   * @throws ApiError `too_large` if the body never fits, even if nothing else is in memory
   */
  readonly growBytes = (bytes: number): boolean => {
    const heldBytes = heldPerByte * bytes;
    if (this.#memory.heldBytes + heldBytes > this.maxBytes) throw tooLargeForMemory();
    return this.grow(heldBytes);
  };

  release(): void {
    this.#memory.release();
    this.#bytes.release();
  }
}
