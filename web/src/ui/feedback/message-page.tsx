import type { ReactNode } from "react";

interface MessagePageProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** A page with a single message, for example that nothing was found. */
export function MessagePage({ title, children }: MessagePageProps) {
  return (
    <div className="mx-auto flex max-w-120 flex-col items-start gap-4 px-6 py-24">
      <title>{`${title} · Beckon`}</title>
      <h1 className="font-semibold text-title">{title}</h1>
      {children}
    </div>
  );
}
