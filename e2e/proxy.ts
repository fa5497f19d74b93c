import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** PATH for proxies: Debian's daemons are outside the PATH of ordinary users. */
export const path = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/** Returns whether a program is installed. If not, prints how to install it. */
export function isInstalled(program: string, debianPackage = program): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { env: { PATH: path }, stdio: "ignore" });
    return true;
  } catch {
    console.log(
      `${program} is not installed, so its example is not tested. ` +
        `Run: apt-get install ${debianPackage}`,
    );
    return false;
  }
}

/**
 * Writes a configuration with which nginx runs in the foreground and writes into `folder` only.
 * @param http content of the block `http`
 * @param accessLog value of `access_log`
 * @returns path of the configuration
 */
export function writeNginxConfig(folder: string, http: string, accessLog = "off"): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
    .join(" ");
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr;
      ${process.getuid?.() === 0 ? "user root;" : ""}
      events {} http { ${paths} ${http} access_log ${accessLog}; }`,
  );
  return file;
}
