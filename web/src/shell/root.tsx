import { Outlet } from "@tanstack/react-router";
import { MissingNotice, Toasts } from "../ui/index.ts";
import { OfflineNotice } from "./offline-notice.tsx";
import { RouteProgress } from "./route-progress.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import { useFocusOnNavigation } from "./use-focus-on-navigation.ts";
import { usePreload } from "./use-preload.ts";

/** The root component of all pages, inside and outside of workspaces. */
export function Root() {
  useFocusOnNavigation();
  usePreload();
  return (
    <>
      <RouteProgress />
      <OfflineNotice />
      <Outlet />
      <Toasts />
      <MissingNotice />
      <SignInAgain />
    </>
  );
}
