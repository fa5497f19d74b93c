import { constants } from "node:os";

/**
 * Runs a benchmark and then disposes `opened` in reverse order, also after an error or Ctrl-C.
 * Register the cleanup of a resource before you start it: a disposed stack throws, so nothing more
 * is started.
 */
export async function withCleanUp(
  work: (opened: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  const opened = new AsyncDisposableStack();
  const interrupted = Promise.withResolvers<never>();
  let exitCode: number | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      exitCode ??= 128 + constants.signals[signal];
      interrupted.reject(new Error(`interrupted by ${signal}`));
    });
  }
  try {
    await Promise.race([work(opened), interrupted.promise]);
  } catch (thrown) {
    if (exitCode === undefined) throw thrown;
  } finally {
    await opened.disposeAsync();
  }
  // The interrupted work would otherwise continue.
  if (exitCode !== undefined) process.exit(exitCode);
}
