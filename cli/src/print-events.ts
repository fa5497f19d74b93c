import type { JournalEvent, WatchedEvent } from "@beckon/client";
import { shown, type Terminal, toJson } from "./terminal.ts";

/** An event of a run or of a workspace, or an event about the stream itself. */
export type TailedEvent =
  | WatchedEvent
  | JournalEvent
  | { readonly type: string; readonly run_id?: string | null; readonly data?: object };

export type Print = (event: TailedEvent) => Promise<void>;

/** Returns a function that prints each event as JSON on a line of its own. */
export function jsonPrinter(terminal: Terminal): Print {
  return (event) => terminal.out(`${toJson(event)}\n`);
}

/** Maximum characters of an event's data on its line. */
const maxDataLength = 160;

/** Returns a function that prints each event on a line of its own. */
export function linePrinter(terminal: Terminal): Print {
  return (event) => terminal.out(`${shown(lineOf(event), terminal)}\n`);
}

/**
 * Returns a function that prints each event of a run on a line of its own, and before each
 * `run.step` the text of the model. The text is printed as it is generated. If that is not sent, or
 * only in part, the `run.step` has it: Beckon sends none of a run that has ended, that another
 * process executes, or of a model call that has begun before.
 */
export function runPrinter(terminal: Terminal): Print {
  const printLine = linePrinter(terminal);
  let isInLine = false;
  /** Whether the whole text of the step that follows was printed as it was generated. */
  let isPrinted = false;

  const print = async (text: string) => {
    if (text === "") return;
    isInLine = !text.endsWith("\n");
    await terminal.out(shown(text, terminal));
  };
  const endLine = async () => {
    if (isInLine) await terminal.out("\n");
    isInLine = false;
  };

  return async (event) => {
    const data: Readonly<Record<string, unknown>> = { ...event.data };
    switch (event.type) {
      case "run.output.start":
        // The text of an attempt that failed stays on the terminal, so the next attempt's begins on
        // another line.
        isPrinted = false;
        return endLine();
      case "run.output.delta":
        return data.kind === "text" ? print(String(data.text)) : undefined;
      case "run.output.end":
        isPrinted = data.complete === true;
        // Says why the model is called again, possibly after minutes.
        if (data.error === undefined) return;
        break;
      case "run.step":
        if (isPrinted) break;
        await endLine();
        await print(textOf(data));
    }
    // After another entry than its step, for example `run.resumed`, what was printed is lost.
    if (event.type !== "run.output.end") isPrinted = false;
    await endLine();
    await printLine(event);
  };
}

/** Returns the text of a `run.step`, or where it is: long texts are stored as an artifact. */
function textOf({ parts, artifact_id, bytes }: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(parts))
    return artifact_id === undefined ? "" : `The text is in ${artifact_id} (${bytes} bytes).`;
  return parts.map((part) => (part?.type === "text" ? part.text : "")).join("");
}

function lineOf(event: TailedEvent): string {
  const time = "time" in event ? new Date(event.time) : new Date();
  const data = JSON.stringify(event.data ?? {});
  const cut = data.length > maxDataLength ? `${data.slice(0, maxDataLength)}…` : data;
  const withoutMs = `${time.toISOString().slice(0, 19)}Z`;
  return [withoutMs, event.run_id ?? "-", event.type, cut].join("  ");
}
