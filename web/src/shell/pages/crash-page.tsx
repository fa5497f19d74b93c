import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Button, ImportError, importFailedSentence, MessagePage, Problem } from "../../ui/index.ts";
import { useReloadOnce } from "./use-reload-once.ts";

/** Shown if the code of a page cannot be loaded or throws an error. */
export function CrashPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  // `reset` alone renders again what was loaded. If the loading failed, this is the same error.
  const retry = async () => {
    await router.invalidate();
    reset();
  };
  return (
    <MessagePage title="This page cannot be shown">
      {error instanceof ImportError ? <MissingCode /> : <Problem error={error} onRetry={retry} />}
    </MessagePage>
  );
}

function MissingCode() {
  useReloadOnce();
  return (
    <>
      <Problem error={importFailedSentence} />
      <Button variant="primary" onClick={() => location.reload()}>
        Reload page
      </Button>
    </>
  );
}
