import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { type FormEvent, useState } from "react";

const transport = new DefaultChatTransport({ api: "/api/chat" });

export function Chat({ models, onAnswer }: { models: string[]; onAnswer: () => void }) {
  const [text, setText] = useState("");
  const [model, setModel] = useState("acme/small");
  const { messages, sendMessage, status, stop, error } = useChat({ transport, onFinish: onAnswer });
  const ask = (event: FormEvent) => {
    event.preventDefault();
    void sendMessage({ text }, { body: { model } });
    setText("");
  };
  return (
    <section>
      <h2>Chat</h2>
      {messages.map(({ id, role, parts }) => (
        <p key={id}>
          <b>{role}:</b> {parts.map((part) => (part.type === "text" ? part.text : "")).join("")}
        </p>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={ask}>
        <select value={model} onChange={({ target }) => setModel(target.value)}>
          {models.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>{" "}
        <input value={text} onChange={({ target }) => setText(target.value)} placeholder="Say something" required />{" "}
        {status === "streaming" || status === "submitted" ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </section>
  );
}
