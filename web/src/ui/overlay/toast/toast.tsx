import { useCallback, useState, useSyncExternalStore } from "react";
import { createDeferred, useDeferred } from "../../deferred.ts";
import {
  clearingsSoFar,
  removeToast,
  shownToasts,
  showToast,
  subscribeToToasts,
  type ToastMessage,
} from "./toasts.ts";

const toaster = createDeferred(async () => (await import("./toaster.tsx")).Toaster);

/** Renders the toasts of the page. Render it once. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribeToToasts, shownToasts);
  const Toaster = useDeferred(toaster, toasts.length > 0);
  return Toaster === undefined ? null : <Toaster toasts={toasts} remove={removeToast} />;
}

/**
 * Returns the function that shows a toast. After `clearToasts` it shows nothing, for example if a
 * response arrives late, until the component is mounted again.
 */
export function useToast(): (message: ToastMessage) => void {
  const [mounted] = useState(clearingsSoFar);
  return useCallback((message) => showToast(message, mounted), [mounted]);
}
