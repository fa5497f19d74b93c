import { BeckonError } from "@beckon/client";
import { RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../action/button.tsx";
import { ToneIcon } from "./tone.tsx";

interface ProblemProps {
  /** What was thrown; the message of a BeckonError says what happened and what to do. */
  readonly error: unknown;
  /** What did not work, as a heading: "Runs could not be loaded." */
  readonly title?: string | undefined;
  readonly onRetry?: (() => unknown) | undefined;
  /** A remedy beside Retry. */
  readonly action?: ReactNode;
  /** `box` stands alone, `inline` within a form, row or dialog. */
  readonly variant?: "box" | "inline";
}

/** An error: what happened, its code, what to do. Announced when it appears. */
export function Problem({ error, title, onRetry, action, variant = "box" }: ProblemProps) {
  const [pending, setPending] = useState(false);
  const { message, code } = describe(error);
  const retry = async () => {
    setPending(true);
    try {
      await onRetry?.();
    } finally {
      setPending(false);
    }
  };
  const frame =
    variant === "box" ? "rounded-control border border-rule bg-sheet p-4" : "text-dense";
  return (
    <div role="alert" className={`flex min-w-0 items-start gap-2 ${frame}`}>
      <ToneIcon tone="failure" />
      <div className="flex min-w-0 flex-1 flex-col items-start gap-2">
        <div className="flex w-full min-w-0 flex-col">
          {title === undefined ? null : <p className="font-semibold">{title}</p>}
          <p className={`break-words ${title === undefined ? "" : "text-ink-2"}`}>{message}</p>
          {code === undefined ? null : (
            <p className="pt-1 font-mono text-label text-ink-3">{code}</p>
          )}
        </div>
        {onRetry === undefined && action === undefined ? null : (
          <div className="flex flex-wrap gap-2">
            {onRetry === undefined ? null : (
              <Button
                size="small"
                icon={RotateCw}
                onClick={retry}
                pending={pending}
                pendingText="Retrying…"
              >
                Retry
              </Button>
            )}
            {action}
          </div>
        )}
      </div>
    </div>
  );
}

function describe(error: unknown): { message: string; code: string | undefined } {
  if (error instanceof BeckonError)
    return { message: error.message, code: code(error.code, error.status) };
  if (typeof error === "string") return { message: error, code: undefined };
  return {
    message: "Something in this page failed. Reload it; if that does not help, report it.",
    code: error instanceof Error ? `${error.name}: ${error.message}` : undefined,
  };
}

function code(name: string, status: number | undefined): string {
  return status === undefined ? name : `${name} · ${status}`;
}
