import { editDistance } from "./edit-distance.ts";

/** An environment variable that begins with `BECKON_` and is no setting. */
interface UnknownSetting {
  readonly name: string;
  /** The known setting with the most similar name. */
  readonly nearest: string;
  /** Whether the names are so similar that it is a typing error: the edit distance is 2 or less. */
  readonly isTypo: boolean;
}

const maxTypoDistance = 2;

/**
 * Variables that Kubernetes sets in each container for a service named `beckon` or `beckon-…`, and
 * Docker for a linked container of such a name.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const injectedName =
  /^BECKON(_\w+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?|ENV_\w+)$/;
/** `BECKON_PORT=tcp://10.0.0.11:3000`, and Docker's `BECKON_NAME=/web/beckon`. */
const injectedNameWithValue = /^BECKON(_\w+)?_(PORT=(tcp|udp|sctp):\/\/|NAME=\/)/;

/** Returns the unknown `BECKON_*` variables. An empty value counts as unset. */
export function findUnknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnknownSetting[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const isOurs = name.startsWith("BECKON_") && !known.includes(name);
    if (!isOurs || value === undefined || value === "") return [];
    if (injectedName.test(name) || injectedNameWithValue.test(`${name}=${value}`)) return [];
    const [closest = "", distance = 0] =
      known
        .map((other): [string, number] => [other, editDistance(name, other)])
        .sort(([, one], [, other]) => one - other)[0] ?? [];
    const isTypo = distance <= maxTypoDistance;
    return [{ name, nearest: isTypo ? closest : (related(name, known) ?? closest), isTypo }];
  });
}

/** Relations that an edit distance does not see: `BECKON_PORT`, `BECKON_MASTER_KEY_FILE`. */
function related(name: string, known: readonly string[]): string | undefined {
  const extended = known.filter((other) => name.startsWith(`${other}_`));
  return known.find((other) => name === `BECKON_${other}`) ?? extended.sort().at(-1);
}
