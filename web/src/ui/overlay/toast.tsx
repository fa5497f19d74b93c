import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { ShownToast, ToastMessage } from "./toaster.tsx";

const ToastContext = createContext<((message: ToastMessage) => void) | undefined>(undefined);

/** Maximum number of toasts on the page. Older ones are removed. */
const maxToasts = 3;
let lastId = 0;

const toaster = createDeferred(async () => (await import("./toaster.tsx")).Toaster);

/** Keeps and renders the toasts of the page. Render it once, around all users of `useToast`. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly ShownToast[]>([]);
  const show = useCallback((message: ToastMessage) => {
    lastId += 1;
    const shown = { ...message, id: lastId };
    setToasts((before) => [...before.slice(1 - maxToasts), shown]);
  }, []);
  const remove = (id: number) => setToasts((before) => before.filter((toast) => toast.id !== id));
  const Toaster = useDeferred(toaster, toasts.length > 0);
  return (
    <ToastContext value={show}>
      {children}
      {Toaster === undefined ? null : <Toaster toasts={toasts} remove={remove} />}
    </ToastContext>
  );
}

/**
 * Returns the function that shows a toast.
 * @throws an Error if there is no ToastProvider around the component
 */
export function useToast(): (message: ToastMessage) => void {
  const show = useContext(ToastContext);
  if (show === undefined) throw new Error("useToast needs ToastProvider above it.");
  return show;
}
