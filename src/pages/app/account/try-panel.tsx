import { useEffect, useRef, useState } from "preact/hooks";
import { SelectField } from "../parts/field.js";
import { credits, number } from "../parts/format.js";
import { announce } from "../parts/live-region.js";
import { Alert } from "../parts/notice.js";
import { fill } from "../parts/texts.js";
import { useAction } from "../parts/use-action.js";
import { texts } from "./settings.js";
import { askModel, costOf, type Trial } from "./try-stream.js";

interface TryPanelProps {
  readonly models: readonly string[];
  readonly model: string;
  readonly onModel: (model: string) => void;
  readonly onDone: () => void;
}

/** Asks a model for real. */
export function TryPanel({ models, model, onModel, onDone }: TryPanelProps) {
  const [question, setQuestion] = useState("");
  const { answer, trial, cost, ask, stop, isStopped } = useTrial(model, onDone);
  return (
    <section class="card" aria-labelledby="try">
      <div>
        <h2 id="try">{texts.tryTitle}</h2>
        <p class="muted">{texts.tryMore}</p>
      </div>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (question.trim() !== "") ask.run();
        }}
      >
        <SelectField label={texts.modelId} value={model} options={models} onChange={onModel} />
        <div class="field">
          <label for="question">{texts.question}</label>
          <textarea
            id="question"
            name="question"
            rows={3}
            maxLength={32_000}
            required
            value={question}
            onInput={({ currentTarget }) => setQuestion(currentTarget.value)}
          />
        </div>
        <div class="actions">
          {ask.isBusy && (
            <button type="button" onClick={stop}>
              {texts.stop}
            </button>
          )}
          <button type="submit" class="primary" disabled={ask.isBusy}>
            {texts.ask}
          </button>
        </div>
      </form>
      <Alert error={isStopped ? undefined : ask.error} />
      {(answer !== "" || ask.isBusy || trial) && (
        <div class="stack tight">
          <h3>{texts.answer}</h3>
          <div class="answer">{answer || (ask.isBusy ? texts.answering : "")}</div>
          <p class="muted dots">
            {isStopped && <span>{texts.stopped}</span>}
            {trial && (
              <>
                <span>{cost === undefined ? texts.costComes : fill(texts.cost, { credits: credits(cost) })}</span>
                <span>{`${texts.input} ${number(trial.input)}`}</span>
                <span>{`${texts.output} ${number(trial.output)}`}</span>
              </>
            )}
          </p>
        </div>
      )}
    </section>
  );
}

function useTrial(model: string, onDone: () => void) {
  const [answer, setAnswer] = useState("");
  const [trial, setTrial] = useState<Trial>();
  const [cost, setCost] = useState<number>();
  const [isStopped, setStopped] = useState(false);
  const asking = useRef<AbortController | undefined>(undefined);
  // Who leaves the view leaves the answer: the model need not go on.
  useEffect(() => () => asking.current?.abort(), []);
  const ask = useAction(async () => {
    const controller = new AbortController();
    asking.current = controller;
    setAnswer("");
    setTrial(undefined);
    setCost(undefined);
    setStopped(false);
    const question = (document.getElementById("question") as HTMLTextAreaElement).value;
    const made = await askModel(model, question, {
      onPiece: (text) => setAnswer((before) => before + text),
      signal: controller.signal,
    });
    setTrial(made);
    announce(texts.answered);
    setCost(await costOf(made.id));
    onDone();
  });
  const stop = () => {
    setStopped(true);
    asking.current?.abort();
  };
  return { answer, trial, cost, ask, stop, isStopped };
}
