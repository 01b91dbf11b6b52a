/** Last labels of hosts: public domains that are often named, reserved ones (RFC 2606, RFC 6761), and those of own networks. */
export const domains: ReadonlySet<string> = new Set(
  (
    "com net org io ai dev app cloud co eu de uk fr cn xyz tech site host systems run sh gg " +
    "edu gov mil biz asia ch nl se jp kr br au ca ru es cz ie nz sg hk tw za mx tr ua vn ph gr ro hu fi dk il ae sa kz ee bg " +
    "example test invalid localhost onion arpa " +
    "local internal svc lan corp intranet home localdomain cluster consul private priv prod k8s kube docker mgmt vpn"
  ).split(" "),
);

/** Of own networks. */
export const privateDomains: ReadonlySet<string> = new Set(
  "local internal svc lan corp intranet home localdomain cluster consul private priv prod k8s kube docker mgmt vpn".split(
    " ",
  ),
);

/** Domains that are words, or ends of sentences without a space: only a name of three labels or more is a host. */
export const wordDomains: ReadonlySet<string> = new Set(
  "it in at to me no be us as am by is so info online website".split(" "),
);

/** Domains in other scripts. */
export const scriptDomains: ReadonlySet<string> = new Set(
  "рф бел укр срб 中国 中國 公司 网络 香港 台湾 台灣 新加坡 한국 닷컴 भारत السعودية امارات مصر ελ გე հայ".split(" "),
);
