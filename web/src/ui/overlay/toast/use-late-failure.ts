import { useLayoutEffect, useRef } from "react";
import { sentenceOf } from "../../feedback/error-words.ts";
import { useToast } from "./toast.tsx";

/**
 * Returns a function for the `onError` of a dialog's request. It shows the error in a toast if the
 * dialog was closed before, because the dialog then cannot show it.
 * @param label text of the button that sent the request
 */
export function useLateFailure(label: string): (thrown: unknown) => void {
  const toast = useToast();
  const isClosed = useRef(false);
  // React delays the cleanup of other effects: an error that arrived after the dialog was removed,
  // but before the cleanup, would be shown nowhere.
  useLayoutEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  return (thrown) => {
    if (!isClosed.current) return;
    toast({ tone: "failure", title: `“${label}” failed.`, description: sentenceOf(thrown) });
  };
}
