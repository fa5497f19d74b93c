import { generateKeyPairSync, randomBytes } from "node:crypto";
import forge from "node-forge";

/** A TLS certificate and its private key, in PEM format. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** IP address or name for which the certificate is valid. Default: 127.0.0.1. */
  readonly host?: string;
  /** Days from now until the certificate expires, negative for one that has expired. Default 1. */
  readonly days?: number;
}

/** A certificate authority that no client trusts by default. */
export interface Authority {
  /** Its own certificate, in PEM format. */
  readonly cert: string;
  issue(options?: CertificateOptions): Certificate;
}

const dayMs = 24 * 3_600_000;

/** Creates a certificate authority. */
export function createAuthority(): Authority {
  const keys = keyPair();
  const subject = [
    { name: "commonName", value: `Test authority ${randomBytes(4).toString("hex")}` },
  ];
  const extensions = [
    { name: "basicConstraints", cA: true, critical: true },
    { name: "keyUsage", keyCertSign: true, critical: true },
  ];
  return {
    cert: sign({ keys, subject, issuer: subject, signer: keys, extensions, days: 1 }),
    issue: ({ host = "127.0.0.1", days = 1 } = {}) => issue(host, days, { subject, keys }),
  };
}

/** Returns a certificate that is signed with its own key. */
export function selfSigned(): Certificate {
  return issue("127.0.0.1", 1, undefined);
}

interface Keys {
  readonly publicKey: forge.pki.rsa.PublicKey;
  readonly privateKey: forge.pki.rsa.PrivateKey;
  readonly key: string;
}

function keyPair(): Keys {
  // Node.js generates keys a hundred times faster than `node-forge`.
  const { publicKey, privateKey: key } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return {
    publicKey: forge.pki.publicKeyFromPem(publicKey),
    privateKey: forge.pki.privateKeyFromPem(key),
    key,
  };
}

function issue(
  host: string,
  days: number,
  authority: { readonly subject: forge.pki.CertificateField[]; readonly keys: Keys } | undefined,
): Certificate {
  const keys = keyPair();
  const subject = [{ name: "commonName", value: host }];
  const address = /^[\d.]+$/.test(host) ? { type: 7, ip: host } : { type: 2, value: host };
  const cert = sign({
    keys,
    subject,
    issuer: authority?.subject ?? subject,
    signer: authority?.keys ?? keys,
    extensions: [{ name: "subjectAltName", altNames: [address] }],
    days,
  });
  return { cert, key: keys.key };
}

function sign({
  keys,
  subject,
  issuer,
  signer,
  extensions,
  days,
}: {
  readonly keys: Keys;
  readonly subject: forge.pki.CertificateField[];
  readonly issuer: forge.pki.CertificateField[];
  readonly signer: Keys;
  readonly extensions: object[];
  readonly days: number;
}): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.serialNumber = `01${randomBytes(8).toString("hex")}`;
  certificate.validity.notBefore = new Date(Date.now() - 10 * dayMs);
  certificate.validity.notAfter = new Date(Date.now() + days * dayMs);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions(extensions);
  certificate.sign(signer.privateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}
