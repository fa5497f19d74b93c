import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { SignInForm } from "../accounts/index.ts";
import { meQuery, useSession, workspaceIn } from "../data/index.ts";

/**
 * The sign-in over the page. It is a modal `<dialog>` and not one of Radix: the browser then makes
 * everything else inert, also dialogs of the page that are open already or open later.
 */
export function SignInPanel() {
  const session = useSession();
  const email = useQueryClient().getQueryData(meQuery.queryKey)?.email;
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  // A field in a dialog that is not shown yet could not get the focus.
  const [isShown, setShown] = useState(false);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    setShown(true);
    // `close` returns the focus to the element that had it before.
    return () => element?.close();
  }, []);
  useEffect(() => {
    // The handlers of the page for keys and for Radix are on the document. Without this one, Esc
    // would close the page's dialogs, and other keys would open its screens.
    const keep = (event: KeyboardEvent) => {
      if (event.key === "Escape") event.preventDefault();
      event.stopImmediatePropagation();
    };
    const check = () => {
      if (!document.hidden) void session.check();
    };
    addEventListener("keydown", keep, { capture: true });
    document.addEventListener("visibilitychange", check);
    return () => {
      removeEventListener("keydown", keep, { capture: true });
      document.removeEventListener("visibilitychange", check);
    };
  }, [session]);
  return createPortal(
    <dialog
      ref={dialog}
      aria-labelledby={title}
      // Radix would take the pointer and the focus in this dialog for outside of its own ones, and
      // close them.
      onPointerDown={(event) => event.stopPropagation()}
      onFocus={(event) => event.stopPropagation()}
      onCancel={(event) => event.preventDefault()}
      // Browsers can close a dialog although `cancel` was prevented, for example after a second
      // press of Android's Back button.
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) currentTarget.showModal();
      }}
      className="pointer-events-auto m-auto w-[calc(100%-2rem)] max-w-100 rounded-popup border border-rule bg-sheet p-4 text-ink shadow-popup backdrop:bg-veil backdrop:backdrop-blur-[16px]"
    >
      <div className="flex flex-col gap-4">
        <header className="flex flex-col gap-1">
          <h2 id={title} className="font-semibold text-section">
            Sign in again
          </h2>
          <p className="text-ink-2">
            Your session has ended. The page stays as it is, with what you have typed.
          </p>
        </header>
        {isShown ? (
          <SignInForm
            email={email}
            workspace={workspaceIn(location.pathname)}
            signIn={session.signIn}
          />
        ) : null}
      </div>
    </dialog>,
    document.body,
  );
}
