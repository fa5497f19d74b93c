import type { JournalEvent } from "@beckon/client";
import { CopyButton, Duration } from "../../../ui/index.ts";
import { Fact, Facts } from "../facts.tsx";
import type { TextView } from "../run-search.ts";
import { Part, SmartValue } from "../text-views.tsx";
import { EntryData } from "./entry-data.tsx";

/** What an outcome means for the reader. */
const outcomeWords: Readonly<Record<string, string>> = {
  ok: "OK",
  error: "Error. The model was told, and the run went on.",
  refused: "Not called: the tool is unknown, or its arguments are not valid. The model was told.",
  unknown:
    "Unknown: the tool was called, but its response was lost. The tool is not marked as safe to repeat, so it was not called again. Check there, by the idempotency key, whether the call took effect.",
};

interface ToolDetailProps {
  readonly runId: string;
  /** The entries of the call and of its result, as far as they exist. */
  readonly call: JournalEvent | undefined;
  readonly result: JournalEvent | undefined;
  readonly hasEnded: boolean;
  readonly view: TextView;
}

/** A tool's arguments and result. */
export function ToolDetail({ runId, call, result, hasEnded, view }: ToolDetailProps) {
  const waiting = hasEnded
    ? "The run ended before the tool answered. The call may or may not have taken effect."
    : "The tool has not answered yet.";
  return (
    <>
      {call === undefined ? null : (
        <EntryData runId={runId} seq={call.seq}>
          {({ arguments: given, idempotency_key: key }) => (
            <>
              {typeof key === "string" ? (
                <Facts>
                  <Fact label="Idempotency key">
                    <span className="truncate font-mono text-dense">{key}</span>
                    <CopyButton text={key} what="idempotency key" />
                  </Fact>
                </Facts>
              ) : null}
              <Part title="Arguments" aside={<CopyButton text={textOf(given)} what="arguments" />}>
                <SmartValue label="Arguments" value={given} view={view} />
              </Part>
            </>
          )}
        </EntryData>
      )}
      {result === undefined ? (
        <Part title="Result">
          <p className="text-ink-2">{waiting}</p>
        </Part>
      ) : (
        <EntryData runId={runId} seq={result.seq}>
          {(data) => <Result data={data} view={view} />}
        </EntryData>
      )}
    </>
  );
}

function Result({ data, view }: { readonly data: JournalEvent["data"]; readonly view: TextView }) {
  const outcome = String(data.outcome);
  return (
    <>
      <Facts>
        <Fact label="Outcome">
          <span className={outcome === "ok" ? "text-moss" : "text-flare"}>
            {outcomeWords[outcome] ?? outcome}
          </span>
        </Fact>
        {outcome === "unknown" ? null : (
          <Fact label="Duration">
            <Duration ms={data.duration_ms as number} />
          </Fact>
        )}
      </Facts>
      <Part title="Result" aside={<CopyButton text={textOf(data.result)} what="result" />}>
        <SmartValue label="Result" value={data.result} view={view} />
      </Part>
    </>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
