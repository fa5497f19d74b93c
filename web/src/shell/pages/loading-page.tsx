/** Shown when a page outside of workspaces takes longer than 150 ms to load (`routes.tsx`). */
export function LoadingPage() {
  return (
    <p role="status" className="px-6 py-24 text-center text-ink-3">
      Loading…
    </p>
  );
}
