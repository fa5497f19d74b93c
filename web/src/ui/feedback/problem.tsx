import { BeckonError } from "@beckon/client";
import { RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../action/button.tsx";
import { sentenceOf } from "./error-words.ts";
import { ToneIcon } from "./tone.tsx";

interface ProblemBoxProps {
  /** The thrown error, or a sentence that says what happened and what to do. */
  readonly error: unknown;
  /** A heading that says what failed, for example "Runs could not be loaded." */
  readonly title?: string | undefined;
  /** What a person should quote when asking for help. Default: code and HTTP status of `error`. */
  readonly code?: string | undefined;
  /** Content below the sentence, for example a list. */
  readonly children?: ReactNode;
  /** A button below all text. */
  readonly action?: ReactNode;
}

interface ProblemProps extends Omit<ProblemBoxProps, "action"> {
  readonly onRetry?: (() => unknown) | undefined;
  /** True for an error that no action of the person caused. Screen readers do not announce it. */
  readonly isState?: boolean;
}

/**
 * Shows an error that is not about one field: what happened, its code, and what to do. Screen
 * readers announce it when it appears. For errors of fields use FieldError, for errors of whole
 * forms FormError.
 */
export function Problem({ isState = false, onRetry, ...rest }: ProblemProps) {
  const [pending, setPending] = useState(false);
  const retry = async () => {
    setPending(true);
    try {
      await onRetry?.();
    } finally {
      setPending(false);
    }
  };
  return (
    <div role={isState ? undefined : "alert"}>
      <ProblemBox
        {...rest}
        action={
          onRetry === undefined ? undefined : (
            <Button
              size="small"
              icon={RotateCw}
              onClick={retry}
              pending={pending}
              pendingText="Retrying…"
            >
              Retry
            </Button>
          )
        }
      />
    </div>
  );
}

/** Problem without announcement and Retry button. Use it in an element that announces changes. */
export function ProblemBox({
  error,
  title,
  code = codeIn(error),
  action,
  children,
}: ProblemBoxProps) {
  return (
    <div className="flex min-w-0 items-start gap-2 rounded-control border border-transparent bg-flare-soft px-3 py-2">
      <ToneIcon tone="failure" />
      <div className="flex min-w-0 flex-1 flex-col items-start gap-1">
        {title === undefined ? null : <p className="font-semibold break-words">{title}</p>}
        <p dir="auto" className="max-w-full break-words">
          {sentenceOf(error)}
        </p>
        {children}
        {code === undefined ? null : (
          <p className="max-w-full font-mono text-label break-words text-ink-2">{code}</p>
        )}
        {action === undefined ? null : <div className="flex pt-1">{action}</div>}
      </div>
    </div>
  );
}

function codeIn(error: unknown): string | undefined {
  if (error instanceof BeckonError)
    return error.status === undefined ? error.code : `${error.code} · ${error.status}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : undefined;
}
