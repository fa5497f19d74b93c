export { CrashPage } from "./pages/crash-page.tsx";
export { LoadingPage } from "./pages/loading-page.tsx";
export { NoWorkspacePage } from "./pages/no-workspace-page.tsx";
export { NotFoundPage } from "./pages/not-found-page.tsx";
export { BodySkeleton, ScreenSkeleton } from "./pages/screen-skeleton.tsx";
export { ShellSkeleton } from "./pages/shell-skeleton.tsx";
export { Root } from "./root.tsx";
export { WorkspaceShell } from "./workspace-shell.tsx";
