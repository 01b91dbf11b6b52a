;; Checks JSON, 16 bytes of a string at a time. It does what src/wire/check-by-loop.ts does, as far as a window of the text goes.
;; Written into src/wire/json-scan-module.ts by make-module.ts: npm run wasm:update.
;;
;; All offsets are those of the whole text. A byte stands in memory at its offset + $shift. Behind the window stand 16 zeros.
;;
;; Memory:
;;       0  state: position, depth, nested, expected, from, leaps; then the most levels and the most nested (i32 each)
;;     256  what may follow a backslash, for each byte: 0 nothing, 1 it is the escape, 2 four hexadecimal digits
;;    1024  for each level, what it is: 1 an object, 2 an array
;;    8192  for each level, where it began (i32)
;;   28672  the ends of long values, with their starts (two i32 each); room for 2048. In a window of 64 KB end
;;          1408 at the most: 128 in a row, on 11 levels.
;;   65472  and from here to the end, which src/wire/json-syntax.ts divides up: the window
;;
;; $expected: 0 value, 1 value or ], 2 key, 3 key or }, 4 colon, 5 comma or the end of what is open.
;; Result: 0 stopped, 1 syntax, 2 something for JavaScript to judge, 3 too deep, 4 too many, 5 __proto__.
(module
  (memory (export "memory") 2)
  (func (export "scan")
    (param $stop i32)      ;; no token begins here or behind it
    (param $end i32)       ;; behind the window's last byte
    (param $escapes i32)   ;; no escape begins behind it: it might not end in the window
    (param $shift i32)
    (result i32)
    (local $maxDepth i32)
    (local $maxNested i32)
    (local $at i32)        ;; the token's first byte
    (local $byte i32)
    (local $depth i32)
    (local $nested i32)
    (local $expected i32)
    (local $from i32)      ;; in a string: from where to read on; else -1
    (local $isKey i32)
    (local $kind i32)      ;; of the innermost level
    (local $leaps i32)
    (local $block v128)
    (local $quotes v128)
    (local $slashes v128)
    (local $spaces v128)
    (local $marks i32)     ;; a bit for each byte of the block that ends or interrupts a string
    (local $mark i32)      ;; the first of them
    (local $next i32)      ;; how far the next block is from this one
    (local $digits i32)    ;; where digits began
    (local $code i32)

    (local.set $quotes (i8x16.splat (i32.const 0x22)))
    (local.set $slashes (i8x16.splat (i32.const 0x5c)))
    (local.set $spaces (i8x16.splat (i32.const 0x20)))
    (local.set $at (i32.load offset=0 (i32.const 0)))
    (local.set $depth (i32.load offset=4 (i32.const 0)))
    (local.set $nested (i32.load offset=8 (i32.const 0)))
    (local.set $expected (i32.load offset=12 (i32.const 0)))
    (local.set $from (i32.load offset=16 (i32.const 0)))
    (local.set $maxDepth (i32.load offset=24 (i32.const 0)))
    (local.set $maxNested (i32.load offset=28 (i32.const 0)))
    (local.set $kind (i32.load8_u offset=1024 (local.get $depth)))

    (block $exit
      (loop $token
        (block $string
          (if (i32.ge_s (local.get $from) (i32.const 0))
            (then
              (local.set $isKey (i32.eq (i32.and (local.get $expected) (i32.const 6)) (i32.const 2)))
              (br $string)))

          ;; White space.
          (block $found
            (loop $space
              (local.set $code (i32.const 0))
              (br_if $exit (i32.ge_s (local.get $at) (local.get $stop)))
              (local.set $byte (i32.load8_u (i32.add (local.get $at) (local.get $shift))))
              (br_if $found (i32.gt_u (local.get $byte) (i32.const 0x20)))
              (local.set $code (i32.const 1))
              ;; A bit for each of line feed, return and tab. Shifts count modulo 32, so that a space is looked at by itself.
              (br_if $exit (i32.eqz (i32.or
                (i32.eq (local.get $byte) (i32.const 0x20))
                (i32.and (i32.shr_u (i32.const 0x2600) (local.get $byte)) (i32.const 1)))))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $space)))
          (local.set $code (i32.const 1))

          ;; A comma, or the end of the innermost object or array.
          (if (i32.eq (local.get $expected) (i32.const 5))
            (then
              (br_if $exit (i32.eqz (local.get $depth)))
              (if (i32.eq (local.get $byte) (i32.const 0x2c))
                (then
                  (local.set $expected (select (i32.const 2) (i32.const 0) (i32.eq (local.get $kind) (i32.const 1))))
                  (local.set $at (i32.add (local.get $at) (i32.const 1)))
                  (br $token)))
              (br_if $exit (i32.ne
                (local.get $byte)
                (select (i32.const 0x7d) (i32.const 0x5d) (i32.eq (local.get $kind) (i32.const 1)))))
              (local.set $digits (i32.load offset=8192 (i32.shl (local.get $depth) (i32.const 2))))
              (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))
              (local.set $kind (i32.load8_u offset=1024 (local.get $depth)))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br_if $token (i32.lt_s (i32.sub (local.get $at) (local.get $digits)) (i32.const 513)))
              (br_if $token (i32.ge_u (local.get $depth) (i32.const 10)))
              (i32.store offset=28672 (i32.shl (local.get $leaps) (i32.const 3)) (local.get $digits))
              (i32.store offset=28676 (i32.shl (local.get $leaps) (i32.const 3)) (local.get $at))
              (local.set $leaps (i32.add (local.get $leaps) (i32.const 1)))
              (br $token)))

          (if (i32.eq (local.get $expected) (i32.const 4))
            (then
              (br_if $exit (i32.ne (local.get $byte) (i32.const 0x3a)))
              (local.set $expected (i32.const 0))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $token)))

          (local.set $isKey (i32.eq (i32.and (local.get $expected) (i32.const 6)) (i32.const 2)))
          (if (i32.and (i32.eq (local.get $byte) (i32.const 0x22)) (i32.gt_u (local.get $depth) (i32.const 0)))
            (then
              (local.set $from (i32.add (local.get $at) (i32.const 1)))
              (br $string)))

          ;; The end of an empty object.
          (if (local.get $isKey)
            (then
              (br_if $exit (i32.ne (local.get $byte) (i32.const 0x7d)))
              (br_if $exit (i32.ne (local.get $expected) (i32.const 3)))
              (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))
              (local.set $kind (i32.load8_u offset=1024 (local.get $depth)))
              (local.set $expected (i32.const 5))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $token)))

          ;; An object or an array: { and [ differ in one bit. On the outside, an object alone.
          (if (i32.and
              (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7b))
              (i32.or (i32.eq (local.get $byte) (i32.const 0x7b)) (i32.gt_u (local.get $depth) (i32.const 0))))
            (then
              (local.set $code (i32.const 3))
              (br_if $exit (i32.eq (local.get $depth) (local.get $maxDepth)))
              (local.set $nested (i32.add (local.get $nested) (i32.const 1)))
              (local.set $code (i32.const 4))
              (br_if $exit (i32.gt_u (local.get $nested) (local.get $maxNested)))
              (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
              (local.set $kind (select (i32.const 1) (i32.const 2) (i32.eq (local.get $byte) (i32.const 0x7b))))
              (local.set $expected (select (i32.const 3) (i32.const 1) (i32.eq (local.get $byte) (i32.const 0x7b))))
              (i32.store8 offset=1024 (local.get $depth) (local.get $kind))
              (i32.store offset=8192 (i32.shl (local.get $depth) (i32.const 2)) (local.get $at))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $token)))

          (local.set $code (i32.const 2))
          (br_if $exit (i32.eqz (local.get $depth)))
          (local.set $code (i32.const 1))

          ;; The end of an empty array.
          (if (i32.eq (local.get $byte) (i32.const 0x5d))
            (then
              (br_if $exit (i32.ne (local.get $expected) (i32.const 1)))
              (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))
              (local.set $kind (i32.load8_u offset=1024 (local.get $depth)))
              (local.set $expected (i32.const 5))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $token)))

          ;; true, null, false: the first four bytes, the last one of which comes first.
          (if (i32.ge_u (local.get $byte) (i32.const 0x61))
            (then
              (local.set $mark (i32.load (i32.add (local.get $at) (local.get $shift))))
              (local.set $next (i32.const 4))
              (if (i32.eq (local.get $mark) (i32.const 0x736c6166))
                (then
                  (br_if $exit (i32.ne
                    (i32.load8_u offset=4 (i32.add (local.get $at) (local.get $shift)))
                    (i32.const 0x65)))
                  (local.set $next (i32.const 5)))
                (else
                  (br_if $exit (i32.eqz (i32.or
                    (i32.eq (local.get $mark) (i32.const 0x65757274))
                    (i32.eq (local.get $mark) (i32.const 0x6c6c756e)))))))
              (local.set $at (i32.add (local.get $at) (local.get $next)))
              (local.set $expected (i32.const 5))
              (br $token)))

          ;; A number without an exponent, of 300 bytes at the most: it is finite. JavaScript judges all others.
          (local.set $code (i32.const 2))
          (local.set $mark (local.get $at))
          (if (i32.eq (local.get $byte) (i32.const 0x2d))
            (then
              (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
              (local.set $byte (i32.load8_u (i32.add (local.get $mark) (local.get $shift))))))
          (local.set $digits (local.get $mark))
          (if (i32.eq (local.get $byte) (i32.const 0x30))
            (then
              (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
              (local.set $byte (i32.load8_u (i32.add (local.get $mark) (local.get $shift)))))
            (else
              (block $whole
                (loop $digit
                  (br_if $whole (i32.gt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 9)))
                  (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
                  (br_if $exit (i32.gt_u (i32.sub (local.get $mark) (local.get $at)) (i32.const 300)))
                  (local.set $byte (i32.load8_u (i32.add (local.get $mark) (local.get $shift))))
                  (br $digit)))
              (br_if $exit (i32.eq (local.get $mark) (local.get $digits)))))
          (if (i32.eq (local.get $byte) (i32.const 0x2e))
            (then
              (local.set $digits (i32.add (local.get $mark) (i32.const 1)))
              (block $fraction
                (loop $digit
                  (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
                  (br_if $exit (i32.gt_u (i32.sub (local.get $mark) (local.get $at)) (i32.const 300)))
                  (local.set $byte (i32.load8_u (i32.add (local.get $mark) (local.get $shift))))
                  (br_if $digit (i32.le_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 9)))))
              (br_if $exit (i32.eq (local.get $mark) (local.get $digits)))))
          (br_if $exit (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x65)))
          (local.set $at (local.get $mark))
          (local.set $expected (i32.const 5))
          (br $token))

        ;; A string, read on from $from.
        (block $closed
          (loop $block
            (local.set $block (v128.load (i32.add (local.get $from) (local.get $shift))))
            (local.set $marks (i8x16.bitmask (v128.or
              (v128.or
                (i8x16.eq (local.get $block) (local.get $quotes))
                (i8x16.eq (local.get $block) (local.get $slashes)))
              (i8x16.lt_u (local.get $block) (local.get $spaces)))))
            (local.set $next (i32.const 16))
            (if (local.get $marks)
              (then
                (loop $each
                  (local.set $mark (i32.add (local.get $from) (i32.ctz (local.get $marks))))
                  (local.set $byte (i32.load8_u (i32.add (local.get $mark) (local.get $shift))))
                  (br_if $closed (i32.eq (local.get $byte) (i32.const 0x22)))
                  ;; A control, or the zeros behind the window.
                  (if (i32.lt_u (local.get $byte) (i32.const 0x20))
                    (then
                      (local.set $code (i32.lt_s (local.get $mark) (local.get $end)))
                      (local.set $from (local.get $mark))
                      (br $exit)))
                  (local.set $code (i32.const 0))
                  (if (i32.gt_s (local.get $mark) (local.get $escapes))
                    (then
                      (local.set $from (local.get $mark))
                      (br $exit)))
                  ;; An escape.
                  (local.set $digits (i32.load8_u offset=256
                    (i32.load8_u offset=1 (i32.add (local.get $mark) (local.get $shift)))))
                  (if (i32.eq (local.get $digits) (i32.const 1))
                    (then
                      ;; What stands behind the backslash is no mark.
                      (local.set $marks (i32.and
                        (local.get $marks)
                        (i32.xor
                          (i32.shl (i32.const 3) (i32.sub (local.get $mark) (local.get $from)))
                          (i32.const -1))))
                      (if (i32.eq (i32.sub (local.get $mark) (local.get $from)) (i32.const 15))
                        (then (local.set $next (i32.const 17)))))
                    (else
                      (if (i32.eqz (i32.and
                          (i32.eq (local.get $digits) (i32.const 2))
                          (call $isHex (i32.add (local.get $mark) (local.get $shift)))))
                        (then
                          (local.set $code (i32.const 1))
                          (local.set $from (local.get $mark))
                          (br $exit)))
                      (local.set $marks (i32.and (local.get $marks) (i32.sub (local.get $marks) (i32.const 1))))))
                  (br_if $each (local.get $marks)))))
            (local.set $from (i32.add (local.get $from) (local.get $next)))
            (br $block)))

        (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
        (local.set $from (i32.const -1))
        (if (local.get $isKey)
          (then
            (if (i32.eq (i32.sub (local.get $mark) (local.get $at)) (i32.const 11))
              (then
                ;; "__proto__"
                (local.set $code (i32.const 5))
                (br_if $exit (i32.and
                  (i64.eq
                    (i64.load offset=1 (i32.add (local.get $at) (local.get $shift)))
                    (i64.const 0x5f6f746f72705f5f))
                  (i32.eq
                    (i32.load8_u offset=9 (i32.add (local.get $at) (local.get $shift)))
                    (i32.const 0x5f))))))
            (local.set $nested (i32.add (local.get $nested) (i32.const 1)))
            (local.set $code (i32.const 4))
            (br_if $exit (i32.gt_u (local.get $nested) (local.get $maxNested)))
            (local.set $expected (i32.const 4))
            (local.set $at (local.get $mark))
            ;; Most colons follow at once.
            (br_if $token (i32.ne
              (i32.load8_u (i32.add (local.get $at) (local.get $shift)))
              (i32.const 0x3a)))
            (local.set $expected (i32.const 0))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $token)))
        (local.set $expected (i32.const 5))
        (local.set $digits (local.get $at))
        (local.set $at (local.get $mark))
        (br_if $token (i32.lt_s (i32.sub (local.get $mark) (local.get $digits)) (i32.const 512)))
        (br_if $token (i32.gt_u (local.get $depth) (i32.const 10)))
        (i32.store offset=28672 (i32.shl (local.get $leaps) (i32.const 3)) (local.get $digits))
        (i32.store offset=28676 (i32.shl (local.get $leaps) (i32.const 3)) (local.get $mark))
        (local.set $leaps (i32.add (local.get $leaps) (i32.const 1)))
        (br $token)))

    (i32.store offset=0 (i32.const 0) (local.get $at))
    (i32.store offset=4 (i32.const 0) (local.get $depth))
    (i32.store offset=8 (i32.const 0) (local.get $nested))
    (i32.store offset=12 (i32.const 0) (local.get $expected))
    (i32.store offset=16 (i32.const 0) (local.get $from))
    (i32.store offset=20 (i32.const 0) (local.get $leaps))
    (local.get $code))

  ;; Whether four hexadecimal digits stand behind the \u there.
  (func $isHex (param $address i32) (result i32)
    (local $last i32)
    (local $byte i32)
    (local.set $last (i32.add (local.get $address) (i32.const 4)))
    (loop $digit
      (local.set $byte (i32.load8_u offset=2 (local.get $address)))
      (if (i32.eqz (i32.or
          (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
          (i32.lt_u
            (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61))
            (i32.const 6))))
        (then (return (i32.const 0))))
      (local.set $address (i32.add (local.get $address) (i32.const 1)))
      (br_if $digit (i32.lt_u (local.get $address) (local.get $last))))
    (i32.const 1)))
