import type { ReactNode } from "react";
import { Mark } from "../ui/index.ts";

interface AccountPageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** The frame of the pages outside of workspaces: one column that fits a phone. */
export function AccountPage({ title, lead, children }: AccountPageProps) {
  return (
    <main
      id="main"
      tabIndex={-1}
      className="mx-auto flex min-h-dvh w-full max-w-96 flex-col gap-6 px-6 py-[12vh] outline-none"
    >
      <title>{`${title} · Beckon`}</title>
      <p className="flex items-center gap-2 font-semibold text-section">
        <Mark size={24} />
        Beckon
      </p>
      <header className="flex flex-col gap-2">
        <h1 className="font-semibold text-title text-balance">{title}</h1>
        {lead === undefined ? null : <div className="text-ink-2">{lead}</div>}
      </header>
      {children}
    </main>
  );
}
