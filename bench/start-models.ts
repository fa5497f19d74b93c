import { type Model, models } from "./cases.ts";
import { run } from "./processes.ts";

/** Starts the model servers and returns their ports. */
export async function startModels(opened: AsyncDisposableStack): Promise<Record<Model, number>> {
  const start = async (model: Model) =>
    (await run<{ port: number }>(opened, "model.ts", ["words", String(models[model].ms)])).message
      .port;
  return { instant: await start("instant"), slow: await start("slow") };
}
