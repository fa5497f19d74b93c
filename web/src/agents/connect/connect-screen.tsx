import { useAgent } from "../queries.ts";
import { CallPanel } from "./call-panel.tsx";
import { FirstCall } from "./first-call.tsx";
import { TokenPanel } from "./token-panel.tsx";

/** How programs call the agent: the token, the code, and whether the first call has arrived. */
export function ConnectScreen() {
  const agent = useAgent();
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
      <title>{`Connect ${agent.name} · Beckon`}</title>
      <CallPanel agent={agent} />
      <div className="flex min-w-0 flex-col gap-6">
        <TokenPanel key={agent.id} agent={agent} />
        <FirstCall agent={agent} />
      </div>
    </div>
  );
}
