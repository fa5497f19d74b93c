import { constants } from "node:os";

/**
 * Runs a bench. However it ends, also by Ctrl-C, everything in `opened` is closed, in reverse order.
 * Register before you start something: a stack that is being closed throws, so nothing more starts.
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
  // An interrupted bench is still in the middle of its work, which would go on.
  if (exitCode !== undefined) process.exit(exitCode);
}
