import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import {
  createQueryClient,
  createSession,
  followChanges,
  handleUnauthorized,
  SessionProvider,
  toServerTime,
  workspaceIn,
} from "./data/index.ts";
import { createAppRouter, needsSession, startFirstScreen } from "./routes.tsx";
import { setClock } from "./ui/index.ts";
import "./ui/tokens.css";

// Radix adds a `<style>` element, which the Content-Security-Policy allows only with this nonce.
const nonce = document.querySelector<HTMLElement>("meta[property=csp-nonce]")?.nonce;
if (nonce !== undefined) setNonce(nonce);

// This must run before any form loads a schema. Otherwise zod would test whether `eval` works,
// which the Content-Security-Policy forbids and reports.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

const queryClient = createQueryClient();
startFirstScreen(queryClient, location.pathname);
const router = createAppRouter(queryClient);
const pathname = () => router.state.location.pathname;
const session = createSession(queryClient, {
  needsSession: () => needsSession(pathname()),
  isVisibleTo: ({ workspaces }) => {
    const workspaceId = workspaceIn(pathname());
    return workspaceId === undefined || workspaces.some(({ id }) => id === workspaceId);
  },
  leave: async ({ next }) => {
    if (!needsSession(pathname())) return;
    const { href } = router.state.location;
    const search = next ? `?${new URLSearchParams({ next: href })}` : "";
    // The data of the page is deleted, so unsaved changes cannot be saved, and forms must not ask
    // about them: the page would stay readable behind the question.
    await router.navigate({ href: `/sign-in${search}`, replace: true, ignoreBlocker: true });
  },
});
handleUnauthorized(() => void session.check());
// Screens that were opened while the session was expired show an error, and are loaded again.
session.subscribe(() => {
  if (session.isExpired() || router.state.matches.every(({ status }) => status !== "error")) return;
  void router.invalidate();
});
followChanges(queryClient);
setClock(toServerTime);

const element = document.getElementById("root");
if (element === null) throw new Error("index.html has no element with the id root");
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <SessionProvider value={session}>
        <RouterProvider router={router} />
      </SessionProvider>
    </QueryClientProvider>
  </StrictMode>,
);
