import { readFileSync } from "node:fs";

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Bytes that are the same in every run. */
export function noise(length: number, seed = 1): Buffer {
  let state = seed;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return (state >> 8) & 0xff;
  };
  return Buffer.from(Uint8Array.from({ length }, next));
}

const numbers = Array.from(noise(1500));
const hex = noise(1500).toString("hex");
const uuid = (text: string) => text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
const letters = (alphabet: string, length = 1500) =>
  Array.from(noise(length, 7), (byte) => alphabet[byte % alphabet.length]).join("");

const lowerCase = "abcdefghijklmnopqrstuvwxyz";

const chinese = `人工智能是计算机科学的一个分支，它试图了解智能的实质，并生产出一种新的能以人类智能相似的方式做出反应的智能机器。该领域的研究包括机器人、语言识别、图像识别、自然语言处理和专家系统等。
今天早上我去市场买了一些蔬菜和水果，然后回家给家里人做了一顿丰盛的午餐。下午天气很好，我们一起去公园散步，孩子们在草地上玩得非常开心。
请帮我写一封电子邮件，告诉客户我们的产品将在下个月发布，价格会比去年便宜百分之十，如果有任何问题可以随时联系我们的客服团队。
春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。世界人民大团结万岁，科学技术是第一生产力。`;

/** What people send most, for which a bound must not be far off. */
export const commonTexts: Readonly<Record<string, string>> = {
  English: file("README.md")
    .replace(/^\|.*$/gm, "")
    .slice(0, 6000),
  "more English": file("CHANGELOG.md").slice(0, 6000),
  Chinese: chinese,
  code: file("src/wire/json-members.ts").slice(0, 6000),
  JSON: file("package.json"),
  "JSON without spaces": JSON.stringify(JSON.parse(file("package.json"))),
};

/** What else they send. */
export const otherTexts: Readonly<Record<string, string>> = {
  Arabic: "الذكاء الاصطناعي هو سلوك وخصائص معينة تتسم بها البرامج الحاسوبية ".repeat(10),
  Russian: "Все люди рождаются свободными и равными в своём достоинстве и правах. ".repeat(5),
  Greek: "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ".repeat(5),
  Hebrew: "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. ".repeat(5),
  Hindi: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। ".repeat(5),
  Thai: "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ".repeat(5),
  Japanese: "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。".repeat(5),
  Korean: "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. ".repeat(5),
  Vietnamese: "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. ".repeat(5),
  German: "Alle Menschen sind frei und gleich an Würde und Rechten geboren; größere Übung fällt schwer. ".repeat(5),
  French: "Tous les êtres humains naissent libres et égaux en dignité et en droits, où qu’ils soient. ".repeat(5),
  Amharic: "የሰው፡ልጅ፡ሁሉ፡ሲወለድ፡ነጻና፡በክብርና፡በመብትም፡እኩልነት፡ያለው፡ነው። ".repeat(5),
  emoji: "🙂🚀🎉👩‍👩‍👧‍👦🇩🇪🤖✨❤️🏳️‍🌈".repeat(20),
  "combining marks": "Z̸̡̢a̴̛͉l̷̨̛g̶̡̛o̵̢͝ ţ̷̛e̶͜͝x̸̨̛t̵̢̛ ".repeat(20),
  "private use": Array.from(noise(300), (byte) => String.fromCodePoint(0xe000 + byte * 7)).join(""),
  base64: noise(3000).toString("base64"),
  hex,
  "hex in capitals": hex.toUpperCase(),
  UUIDs: (hex.match(/.{32}/g) ?? []).map(uuid).join("\n"),
  digits: numbers.join(""),
  CSV: numbers.join(","),
  "a log": numbers
    .map((ms, at) => `2026-03-01T10:20:${at % 60}.${ms}Z INFO GET /v1/models 200 ${ms}ms`)
    .join("\n")
    .slice(0, 6000),
  "random small letters": letters(lowerCase),
  "random capitals": letters(lowerCase.toUpperCase()),
  "random letters of both cases": letters(lowerCase + lowerCase.toUpperCase()),
  "random letters and spaces": letters(`${lowerCase}     `),
  "random marks": letters("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
  "random white space": letters(" \n\t\r"),
  DNA: letters("ACGT"),
  "small DNA": letters("acgt"),
  "one long word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(20),
  "runs of white space": `a${" ".repeat(137)}b${"\n".repeat(75)}c${"\t".repeat(33)}d${" \n".repeat(50)}e`,
  "runs of marks": `${"=".repeat(137)} ${"-".repeat(75)}${"~*".repeat(33)}${"/\\".repeat(50)}#`,
  "prose with base64 in it": Array.from({ length: 10 }, (_, at) => {
    return `Here is one more of them. ${noise(60 + at).toString("base64")} Look!`;
  }).join(" "),
};

/** Answers that a number of bytes says little about. */
export const responseTexts: Readonly<Record<string, string>> = {
  digits: numbers.join(""),
  punctuation: letters("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
  emoji: "🙂🚀🎉👩‍👩‍👧‍👦🇩🇪🤖✨❤️🏳️‍🌈".repeat(40),
  "rare Chinese": numbers.map((byte, at) => String.fromCodePoint(0x3400 + ((byte * 31 + at) % 6000))).join(""),
  "an array of JSON": JSON.stringify(numbers.map((byte) => [byte, byte / 7])),
  English: file("README.md").slice(0, 6000),
};
