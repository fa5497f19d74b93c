import { useRouterState } from "@tanstack/react-router";

/** A thin bar at the top while the next screen loads. It appears after 150 ms. */
export function RouteProgress() {
  const isLoading = useRouterState({ select: (state) => state.isLoading });
  if (!isLoading) return null;
  return (
    <div
      role="progressbar"
      aria-label="Loading the page"
      className="fixed inset-x-0 top-0 z-50 h-0.5 animate-late bg-tide"
    />
  );
}
