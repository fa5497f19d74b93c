import { editDistance } from "./edit-distance.ts";

/** An environment variable that begins with `BECKON_` but is not a setting. */
interface UnknownSetting {
  readonly name: string;
  /** The known setting that was probably meant. */
  readonly nearest: string;
  /** Whether the name is probably a typing error: its edit distance from `nearest` is 2 or less. */
  readonly isTypo: boolean;
}

const maxTypoDistance = 2;

/**
 * Matches the variables that Kubernetes sets in each container for a service named `beckon` or
 * `beckon-…`, and those that Docker sets for a linked container of such a name.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const injectedName =
  /^BECKON(_\w+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?|ENV_\w+)$/;
/**
 * Matches variables that can be recognized only with their value, as `NAME=value`:
 * `BECKON_PORT=tcp://10.0.0.11:3000`, and Docker's `BECKON_NAME=/web/beckon`.
 */
const injectedNameWithValue = /^BECKON(_\w+)?_(PORT=(tcp|udp|sctp):\/\/|NAME=\/)/;

/** Returns whether Kubernetes or Docker set this variable, for a service or container of ours. */
export function isInjected(name: string, value: string): boolean {
  return injectedName.test(name) || injectedNameWithValue.test(`${name}=${value}`);
}

/** Returns the unknown `BECKON_*` variables. An empty value counts as unset. */
export function findUnknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnknownSetting[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const isOurs = name.startsWith("BECKON_") && !known.includes(name);
    if (!isOurs || value === undefined || value === "") return [];
    if (isInjected(name, value)) return [];
    const [closest = "", distance = 0] =
      known
        .map((other): [string, number] => [other, editDistance(name, other)])
        .sort(([, one], [, other]) => one - other)[0] ?? [];
    const isTypo = distance <= maxTypoDistance;
    return [{ name, nearest: isTypo ? closest : (related(name, known) ?? closest), isTypo }];
  });
}

/**
 * Returns a setting whose name is similar in spite of a large edit distance: `PORT` for
 * `BECKON_PORT`, `BECKON_MASTER_KEY` for `BECKON_MASTER_KEY_FILE`. Returns undefined if there is
 * none.
 */
function related(name: string, known: readonly string[]): string | undefined {
  const extended = known.filter((other) => name.startsWith(`${other}_`));
  return known.find((other) => name === `BECKON_${other}`) ?? extended.sort().at(-1);
}
