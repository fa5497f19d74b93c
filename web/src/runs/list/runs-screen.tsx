import { PageHeader } from "../../ui/index.ts";
import { RunsTable } from "./runs-table.tsx";

/** All runs of the workspace. */
export function RunsScreen() {
  return (
    <div className="flex min-w-0 flex-col">
      <title>Runs · Beckon</title>
      <PageHeader title="Runs" />
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        <RunsTable label="Runs" />
      </div>
    </div>
  );
}
