import { readSettingsFile } from "../base/settings-file/index.ts";
import { noOperatorPrices, type OperatorPrices } from "./operator-prices.ts";
import { parseOperatorPrices } from "./parse-operator-prices.ts";

/**
 * Reads the operator's prices.
 * @param path of the file that the setting BECKON_PRICES names; undefined if the setting is not
 *   set, which means that there are no prices.
 * @throws ConfigError if the file cannot be read or is not valid. The message contains the line and
 *   column of every mistake.
 */
export async function readOperatorPrices(path: string | undefined): Promise<OperatorPrices> {
  return path === undefined
    ? noOperatorPrices
    : readSettingsFile("BECKON_PRICES", path, parseOperatorPrices);
}
