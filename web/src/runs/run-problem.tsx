import { Link, Problem } from "../ui/index.ts";
import { adviceFor } from "./run-advice.ts";

interface RunProblemProps {
  readonly error: { readonly code: string; readonly message: string };
  /** Page of the agent's settings, where they are not at hand. */
  readonly settingsHref?: string;
  /** True if the run had failed before the person came. */
  readonly isState?: boolean;
}

/** Why a run has no output: in plain words, in those of the server, and what to do. */
export function RunProblem({ error, settingsHref, isState = false }: RunProblemProps) {
  const { code, message } = error;
  if (code === "cancelled")
    return (
      <p dir="auto" className="break-words text-ink-2">
        {message}
      </p>
    );
  const { what, remedy } = adviceFor(code);
  return (
    <Problem title={what} error={message} code={code} isState={isState}>
      {remedy === "" ? null : (
        <p>
          {remedy}{" "}
          {settingsHref === undefined ? null : (
            <Link href={settingsHref}>Open the agent's settings</Link>
          )}
        </p>
      )}
    </Problem>
  );
}
