import type { ReactNode } from "react";

interface MessagePageProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** A page that says one thing, for example that there is nothing here. */
export function MessagePage({ title, children }: MessagePageProps) {
  return (
    <div className="mx-auto flex max-w-120 flex-col items-start gap-4 px-6 py-24">
      <title>{`${title} · Beckon`}</title>
      <h1 className="font-semibold text-title">{title}</h1>
      {children}
    </div>
  );
}
