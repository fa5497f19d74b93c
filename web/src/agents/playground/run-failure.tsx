import { adviceFor } from "./run-advice.ts";

interface RunFailureProps {
  readonly error: { readonly code: string; readonly message: string };
}

/** Why a run has no output: in plain words, then in those of the server. */
export function RunFailure({ error: { code, message } }: RunFailureProps) {
  const { what, remedy } = adviceFor(code);
  if (code === "cancelled") return <p className="text-ink-2">{what}</p>;
  return (
    <div
      role="alert"
      className="flex min-w-0 flex-col gap-1 rounded-control border border-flare bg-flare-soft px-3 py-2"
    >
      <p className="font-semibold text-flare">{what}</p>
      <p className="min-w-0 break-words" dir="auto">
        {message}
      </p>
      {remedy === "" ? null : <p>{remedy}</p>}
      <p className="font-mono text-label text-ink-3">{code}</p>
    </div>
  );
}
