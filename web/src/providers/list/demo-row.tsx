import { Badge, StatusMark } from "../../ui/index.ts";
import { rowLook } from "./row-look.ts";

/** The built-in demo model, which needs no provider. */
export function DemoRow() {
  return (
    <li className="px-4 py-3" aria-label="demo">
      <div className={rowLook}>
        <div className="col-span-2 flex min-w-0 flex-col gap-0.5 lg:col-span-1">
          <div className="flex min-w-0 items-center gap-2">
            <h3 className="font-mono font-semibold">demo</h3>
            <Badge>Built in</Badge>
          </div>
          <p className="text-dense text-ink-2">
            demo/echo repeats what it is given, to try Beckon without an account.
          </p>
        </div>
        <StatusMark status="succeeded" word="Works, 1 model" />
      </div>
    </li>
  );
}
