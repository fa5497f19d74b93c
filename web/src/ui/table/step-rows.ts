/**
 * Rows are added to a long list in steps, because many at once would be a long task on a slow
 * machine. Each step can add this many rows, or more if the steps before it were painted fast (see
 * `stepRows`). The gate of `script/bench dashboard` is a longest task of 50 ms; 5 rows exceed it.
 */
export const minStepRows = 3;
/** Maximum number of rows that a step can add, on the fastest machine. */
const maxStepRows = 14;
/** The rows of a step should be painted within this time, about one frame at 60 Hz. */
const stepMs = 16;

/**
 * Returns how long one row takes to paint, after a further step was measured. A slower step counts
 * at once, a faster one half, because other work of the browser makes single frames slow or fast.
 *
 * @param msPerRow the result for the steps before; `undefined` for the first step
 * @param rows number of rows that the measured step added, at least 1
 * @param paintMs duration of the frame that painted these rows, in ms
 */
export function paintMsPerRow(msPerRow: number | undefined, rows: number, paintMs: number): number {
  const measured = paintMs / rows;
  return Math.max(measured, (measured + (msPerRow ?? measured)) / 2);
}

/**
 * Returns how many rows the next step can add.
 * @param msPerRow the result of `paintMsPerRow`; `undefined` if no step has been measured
 */
export function stepRows(msPerRow: number | undefined): number {
  if (msPerRow === undefined) return minStepRows;
  return Math.max(minStepRows, Math.min(maxStepRows, Math.floor(stepMs / msPerRow)));
}

/**
 * Calls `done` after the current frame has been painted. Must be called in a callback of
 * `requestAnimationFrame`, because the browser paints after these callbacks in the same task.
 */
export function afterPaint(done: () => void): void {
  const { port1, port2 } = new MessageChannel();
  // Messages are handled in the order they were sent. React renders in a message that it sends
  // later, so its work is not measured.
  port1.onmessage = () => {
    port1.close();
    done();
  };
  port2.postMessage(null);
}
