import { constants } from "node:os";

/**
 * Runs a benchmark and then disposes `opened` in reverse order, even after an error or Ctrl-C.
 * Register the cleanup of a resource before you start the resource: `defer` of a disposed stack
 * throws, so nothing is started after the cleanup.
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
  // Exits, because the interrupted work would otherwise continue.
  if (exitCode !== undefined) process.exit(exitCode);
}
