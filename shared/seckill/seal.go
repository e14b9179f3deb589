package seckill

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// sealing is what the key is for. A hash of the cookie's value stands in the table: the key must be another one.
const sealing = "seckill staff refresh token v1"

// Seal encrypts an issuer's refresh token with a key that only the cookie's value gives: who reads the table can use
// neither. random makes bytes that nobody can guess. "" stays "".
func Seal(cookie, token string, random func(n int) []byte) (string, error) {
	if token == "" {
		return "", nil
	}
	aead, err := sealer(cookie)
	if err != nil {
		return "", err
	}
	nonce := random(aead.NonceSize())
	return base64.RawStdEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(token), nil)), nil
}

// Unseal is the inverse of Seal. It fails with another cookie.
func Unseal(cookie, sealed string) (string, error) {
	aead, err := sealer(cookie)
	if err != nil {
		return "", err
	}
	b, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil || len(b) < aead.NonceSize() {
		return "", fmt.Errorf("seckill: a refresh token that nobody sealed: %w", err)
	}
	token, err := aead.Open(nil, b[:aead.NonceSize()], b[aead.NonceSize():], nil)
	if err != nil {
		return "", fmt.Errorf("seckill: a refresh token of another cookie: %w", err)
	}
	return string(token), nil
}

func sealer(cookie string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(cookie), nil, sealing, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
