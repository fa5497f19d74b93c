/**
 * Calls one listener, which is registered later than the code that calls it is created. Until then,
 * calls do nothing. `call` and `register` can be passed on as functions.
 */
export class LateListener<Parameters extends readonly unknown[] = []> {
  #listener: ((...parameters: Parameters) => void) | undefined;

  readonly call = (...parameters: Parameters): void => this.#listener?.(...parameters);

  /** @throws if a listener is registered already: the first one would no longer be called. */
  readonly register = (listener: (...parameters: Parameters) => void): void => {
    if (this.#listener !== undefined) throw new Error("a listener is already registered");
    this.#listener = listener;
  };
}
